"""What loggers call things."""

from pgt.io.column_aliases import (
    field_aliases,
    letters_of,
    rename_axes_in_order,
)


def test_components_have_many_names():
    flow = ("u", "v", "w", "p")
    names = ["V_z", "w velocity", "Velocity-w", "Z-Velocity", "vel_z"]
    assert all(letters_of(name) in field_aliases("w", flow) for name in names)
    assert "vx" not in field_aliases("w", flow)
    assert "ux" not in field_aliases("u", ("u",))  # no flow: it may be anything
    assert "pressure" in field_aliases("p", flow)


def test_axes_are_taken_in_order():
    assert rename_axes_in_order({"x": "East", "z": "z"}) == {"x": "East", "y": "z"}
    assert rename_axes_in_order({"t": "t", "x": "x"}) == {"x": "x", "t": "t"}
    beside = {"z": "", "t": "time"}  # the places stand in the headings, where z is written
    assert rename_axes_in_order(beside) == beside


def test_simulations_count_components():
    flow = ("u", "v", "p")
    assert [
        letters_of(name) in field_aliases("v", flow)
        for name in ("U:1", "Velocity_1", "Velocity[j]")
    ] == [True] * 3
    assert letters_of("T_1") == "t"
