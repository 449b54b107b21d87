"""What loggers call things."""

from pgt.io.called import also_called, as_the_equation, in_order, letters, parts_of_a_date


def test_components_have_many_names():
    flow = ("u", "v", "w", "p")
    names = ["V_z", "w velocity", "Velocity-w", "Z-Velocity", "vel_z"]
    assert all(letters(name) in also_called("w", flow) for name in names)
    assert "vx" not in also_called("w", flow)
    assert "ux" not in also_called("u", ("u",))  # no flow: it may be anything
    assert "pressure" in also_called("p", flow)


def test_axes_are_taken_in_order():
    assert in_order({"x": "East", "z": "z"}) == {"x": "East", "y": "z"}
    assert in_order({"t": "t", "x": "x"}) == {"x": "x", "t": "t"}
    beside = {"z": "", "t": "time"}  # the places stand in the headings, where z is written
    assert in_order(beside) == beside


def test_simulations_count_components():
    flow = ("u", "v", "p")
    assert [
        letters(name) in also_called("v", flow) for name in ("U:1", "Velocity_1", "Velocity[j]")
    ] == [True] * 3
    assert letters("T_1") == "t"


def test_parts_of_a_date():
    assert parts_of_a_date(["Year", "Month", "Day", "Hour", "T"]) == [
        "Year",
        "Month",
        "Day",
        "Hour",
    ]
    assert parts_of_a_date(["yyyy", "MM", "dd", "hh", "mm"]) == ["yyyy", "MM", "dd", "hh", "mm"]
    assert parts_of_a_date(["Year", "Month", "T"]) == []


def test_one_axis_of_space_is_that_of_the_equation():
    depth = {"z": "depth", "t": "time"}
    assert as_the_equation(depth, ("x", "t"), False) == {"x": "depth", "t": "time"}
    assert as_the_equation(depth, ("z", "t"), False) == depth
    assert as_the_equation(depth, (), False) == depth
    assert as_the_equation(depth, (), True) == {"x": "depth", "t": "time"}
