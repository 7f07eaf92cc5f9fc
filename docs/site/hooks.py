"""Hooks of mkdocs: the navigation is that of docs/index.md, and headings have the anchors that GitHub gives them."""

import pathlib
import re


def slug(heading, separator):
    """`CL.THROTTLE, by name` is `clthrottle-by-name`."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", separator)


def navigation(index):
    """A part for each heading, with the pages of its list."""
    parts = [{"Weir": "index.md"}]
    for heading, text in re.findall(r"(?ms)^## (.*?)$(.*?)(?=^## |\Z)", index):
        parts.append({heading: [{title: page} for title, page in re.findall(r"(?m)^- \[(.+?)\]\((\S+?)\)", text)]})
    return parts


def on_config(config):
    config["mdx_configs"].setdefault("toc", {})["slugify"] = slug
    config["nav"] = navigation((pathlib.Path(config["docs_dir"]) / "index.md").read_text())
    return config
