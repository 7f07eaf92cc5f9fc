"""Reads what deploy/grafana/weir.json requests from Prometheus: its queries, their metrics and labels."""

import json
import pathlib
import re

FILE = pathlib.Path(__file__).parents[2] / "deploy/grafana/weir.json"

# Labels that Prometheus adds to what it scrapes, and suffixes of histograms.
ADDED = {"job", "instance", "le"}


def load():
    return json.loads(FILE.read_text())


def panels(dashboard):
    """Returns the panels with content, including those in collapsed rows."""
    for panel in dashboard["panels"]:
        yield from panel.get("panels", [])
        if panel["type"] != "row":
            yield panel


def queries(dashboard):
    """Returns (where, query) of each panel and annotation; the labels of a legend are among those of its query."""
    for panel in panels(dashboard):
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for annotation in dashboard["annotations"]["list"]:
        yield annotation["name"], annotation["expr"]


def without_variables(query):
    """Returns the query as Grafana sends it."""
    return re.sub(r"\$(\w+)", ".*", query.replace("$__rate_interval", "5m"))


def family(name, known):
    """Returns the metric of a sample: a histogram has samples with several names."""
    return name if name in known else re.sub(r"_(bucket|sum|count)$", "", name)


def matchers(query):
    """Returns (metric, its labels in braces with their values) of each selector."""
    for name, inside in re.findall(r"\b((?:weir|process)_\w+)(?:\{([^}]*)\})?", query):
        yield name, re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"', inside)


def grouped(query):
    """Returns the labels that are kept."""
    return {label.strip() for labels in re.findall(r"\bby \(([^)]*)\)", query) for label in labels.split(",")}


def legend_labels(legend):
    return set(re.findall(r"{{\s*(\w+)\s*}}", legend))


def used(dashboard, known):
    """Returns {metric: the labels that some query uses}, by known names."""
    found = {}
    for _, query in queries(dashboard):
        names = [(family(name, known), {label for label, _ in inside}) for name, inside in matchers(query)]
        for name, labels in names:
            found.setdefault(name, set()).update(labels | grouped(query))
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((\w+)(?:\{.*\})?, (\w+)\)", variable["query"]["query"]).groups()
            found.setdefault(metric, set()).add(label)
    return {name: labels - ADDED for name, labels in found.items()}
