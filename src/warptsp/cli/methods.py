"""``warptsp methods``: the methods, their parameters, and the published documents that they are from."""

from warptsp.cli._command import as_command
from warptsp.cli.streams import say


@as_command("warptsp methods | less")
def command() -> None:
    """List the methods of warptsp solve and their parameters, and the paper or thesis that each is from.

    warptsp solve --document runs the systems of five published papers and theses as they define them.
    """
    from warptsp.methods import METHODS
    from warptsp.methods.parameters import describe_params
    from warptsp.papers import DOCUMENTS, documents_of

    for method in METHODS.values():
        say("; ".join([f"{method.name:12} {method.summary}", *documents_of(method.name)]))
        for name, kind, default in describe_params(method.params):
            shown = ",".join(map(str, default)) if isinstance(default, tuple) else default
            say(f"    --param {name}={shown}   ({kind})")
    say("", "Documents:")
    for document in DOCUMENTS.values():
        about = f"{document.authors} ({document.year}): {document.title}; {document.published}"
        say(f"--document {document.number}   {about}")
        distances = "" if document.metric is None else f" --metric {document.metric}"
        for name, system in document.systems.items():
            start = "" if system.start is None else f" --start {system.start}"
            given = "".join(f" --param {key}={value}" for key, value in system.params.items())
            versions = [
                f" ({device}: {', '.join(f'{key}={value}' for key, value in chosen.items())})"
                for device, chosen in (("CPU", system.cpu), ("GPU", system.gpu))
                if chosen
            ]
            say(f"    --method {name}{start}{given}{distances}{''.join(versions)}")
