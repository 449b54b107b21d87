"""A report read without a browser: its words, tags and attributes."""

from html.parser import HTMLParser

from pgt.report.page import page


class Reader(HTMLParser):
    """The words, tags and attributes of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.attributes, self.words, self.inside = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self.inside):
            self.words.append(data)


def text_of(data) -> str:
    return " ".join(" ".join(Reader(page(data)).words).split())
