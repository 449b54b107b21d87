"""Other libraries on the same problems, set up as their documentation recommends (extra `peers`)."""
