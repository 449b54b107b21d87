"""What loggers call things."""

from pgt.io.called import also_called, in_order, letters


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
