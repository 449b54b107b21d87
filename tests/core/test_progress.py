"""The line that moves while a user waits."""

from pgt.core.progress import ProgressBar


def test_the_progress_bar_shows_and_hides(capsys):
    with ProgressBar(show=True) as bar:
        bar.update("train", 0.5, {"data": 1e-3})
    assert "data 1.0e-03" in capsys.readouterr().err
    with ProgressBar(show=False) as bar:
        bar.update("train", 0.5, {"data": 1e-3})
    assert capsys.readouterr().err == ""


def test_several_losses_stand_beside_the_stage(capsys):
    with ProgressBar(show=True) as bar:
        bar.update("polish 1 of 2", 1.0, {"data": 0.25, "ic": 3.0})
    shown = " ".join(capsys.readouterr().err.split())
    assert "polish 1 of 2" in shown
    assert "100 %" in shown
    assert "data 2.5e-01 ic 3.0e+00" in shown


def test_nobody_at_a_terminal_is_shown_nothing(capsys):
    with ProgressBar() as bar:
        bar.update("train", 0.5, {"data": 1e-3})
    assert capsys.readouterr().err == ""
