"""From a table of places to a map.

You learn to read places from a CSV file, to find a round trip and a one-way trip between two of them, and to
write the files that maps, spreadsheets and satellite navigation read.

    python examples/cities_of_a_country.py OUT
    python examples/cities_of_a_country.py OUT --places mine.csv
"""

import argparse
from pathlib import Path

import warptsp

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("out", type=Path, help="output folder")
parser.add_argument(
    "--places",
    type=Path,
    default=Path(__file__).with_name("italy.csv"),
    help="table with columns name, lat and lon; default: 104 provincial capitals of Italy",
)
options = parser.parse_args()
options.out.mkdir(parents=True, exist_ok=True)

# Columns that are called lat and lon put the places on the globe: lengths are metres along great circles.
places = warptsp.load(options.places)
file_order = places.length(range(places.n))

# Without a limit the search ends when it has not found anything shorter for a while.
trip = warptsp.solve(places, seed=1, snapshots=16)
print(f"{places.n} places, in the order of the file {file_order / 1000:.0f} km")
print(f"round trip: {trip.length / 1000:.0f} km, found in {trip.seconds:.1f} s")

# One way, from the northernmost place to the southernmost one. places.city("Roma") finds a city by its name.
latitudes = places.coordinates[:, 0]
ends = warptsp.OpenPath(start=int(latitudes.argmax()), end=int(latitudes.argmin()))
journey = warptsp.solve(places, open=ends, seed=1, snapshots=16)
stops = [places.label(city) for city in journey.tour]
print(f"one way: {journey.length / 1000:.0f} km, {', '.join(stops[:3])}, ..., {', '.join(stops[-2:])}")

for name, result in {"round_trip": trip, "one_way": journey}.items():
    result.save(options.out / f"{name}.csv")  # for a spreadsheet: the places in visiting order
    result.save(options.out / f"{name}.geojson")  # for a map: geojson.io, QGIS, Leaflet
    result.save(options.out / f"{name}.kml")  # for a globe: Google Earth, Marble
    result.save(options.out / f"{name}.gpx")  # for satellite navigation
    result.save(options.out / f"{name}.svg")  # to look at
    result.report(options.out / f"{name}.html")  # a page for a browser, with a map below the tour
