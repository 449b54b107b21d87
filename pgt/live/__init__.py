"""A field that is kept up to date while readings arrive.

window      the field over a moving window of time, and its forecast
following   lines of a growing file or of standard input, a few at a time
"""

from pgt.live.window import Window as Window

__all__ = ["Window"]
