"""``warptsp devices``: what this machine and this build can do."""

from __future__ import annotations

import click

from warptsp.cli._options import echo_json, json_option


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Tell what this machine and this build can do; paste it into bug reports."""
    from warptsp.devices import describe

    found = describe()
    if as_json:
        echo_json(found)
        return
    native = ", ".join(f"{name} {value}" for name, value in found["native"].items())
    click.echo(f"warptsp   {found['warptsp']}, Python {found['python']}, NumPy {found['numpy']}")
    click.echo(f"system    {found['system']}")
    click.echo(f"cpu       {found['cpu']}")
    click.echo(f"threads   {found['threads']} used by default, {found['cores']} in the machine")
    click.echo(f"simd      {', '.join(found['simd']) or 'none known'}")
    click.echo(f"native    {native}")
    click.echo(f"gpu       none used: {found['gpu_why']}")
