"""mkdocs hooks: takes the navigation from docs/index.md, and gives headings the same anchors as GitHub."""

import pathlib
import re


def slug(heading, separator):
    """Turns `CL.THROTTLE, by name` into `clthrottle-by-name`."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", separator)


def navigation(index):
    """Returns one section per heading, with the pages of its list."""
    parts = [{"Weir": "index.md"}]
    for heading, text in re.findall(r"(?ms)^## (.*?)$(.*?)(?=^## |\Z)", index):
        parts.append({heading: [{title: page} for title, page in re.findall(r"(?m)^- \[(.+?)\]\((\S+?)\)", text)]})
    return parts


def on_config(config):
    config["mdx_configs"].setdefault("toc", {})["slugify"] = slug
    config["nav"] = navigation((pathlib.Path(config["docs_dir"]) / "index.md").read_text())
    return config
