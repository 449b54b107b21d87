"""What loggers call things."""

from pgt.io.column_aliases import (
    field_aliases,
    letters_of,
)


def test_components_have_many_names():
    flow = ("u", "v", "w", "p")
    names = ["V_z", "w velocity", "Velocity-w", "Z-Velocity", "vel_z"]
    assert all(letters_of(name) in field_aliases("w", flow) for name in names)
    assert "vx" not in field_aliases("w", flow)
    assert "ux" not in field_aliases("u", ("u",))  # no flow: it may be anything
    assert "pressure" in field_aliases("p", flow)
