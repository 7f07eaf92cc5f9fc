"""Hooks of mkdocs: headings have the anchors that GitHub and other readers of Markdown give them."""

import re


def slug(heading, separator):
    """`CL.THROTTLE, by name` is `clthrottle-by-name`."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", separator)


def on_config(config):
    config["mdx_configs"].setdefault("toc", {})["slugify"] = slug
    return config
