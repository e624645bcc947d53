"""The names of columns that are known, in the languages in which most tables are written."""

import re
import unicodedata
from collections.abc import Container, Iterable
from itertools import chain, count

from warptsp.errors import InvalidProblem
from warptsp.io.options import ROLES
from warptsp.problem.origin import METRES

# In the plane.
_X = (
    "x, easting, ostwert, rechtswert, xcoord, xcoordinate, coordx, xkoordinate, pointx, xaxis, xachse, xpos, "
    "posx, xposition, positionx, midx, refx, centerx, centrex, utme, utmeasting"
)
_Y = (
    "y, northing, nordwert, hochwert, ycoord, ycoordinate, coordy, ykoordinate, pointy, yaxis, yachse, ypos, "
    "posy, yposition, positiony, midy, refy, centery, centrey, utmn, utmnorthing"
)
_Z = "z, zcoord, zcoordinate, coordz, zkoordinate, pointz, zaxis, zachse, zpos"
# English with the names of GTFS, Darwin Core, OurAirports, GPS loggers and DaData; then German, Spanish and
# Portuguese, French, Italian, Dutch, Polish, Czech, Swedish and its neighbours, Finnish, Turkish, Russian and
# Ukrainian, Greek, Indonesian, Vietnamese, Chinese, Japanese, Korean, Hindi, Arabic, Persian.
_LATITUDE = (
    "lat, latitude, stoplat, decimallatitude, latitudedeg, gpslat, gpslatitude, geolat, geolatitude, latdd, "
    "latwgs84, latitudewgs84, lat°, latitude°, gpsbreite, wgs84lat, ywgs84, wgs84y, poslat, "
    "breitengrad, breite, geobreite, geographischebreite, latitud, gpslatitud, latitudine, breedtegraad, "
    "szerokość, szerokośćgeograficzna, zeměpisnášířka, breddegrad, latitud, leveysaste, leveyspiiri, enlem, "
    "широта, геоширота, γεωγραφικόπλάτος, lintang, vĩđộ, 纬度, 緯度, 위도, अक्षांश, خطالعرض, دائرةالعرض, "
    "عرضجغرافیایی"
)
_LONGITUDE = (
    "lon, lng, long, longitude, stoplon, decimallongitude, longitudedeg, gpslon, gpslng, gpslong, "
    "gpslongitude, geolon, geolng, geolong, geolongitude, londd, longdd, lngdd, "
    "lonwgs84, lngwgs84, longitudewgs84, lon°, lng°, longitude°, gpslänge, gpslaenge, "
    "wgs84lon, xwgs84, wgs84x, poslon, poslng, "
    "längengrad, laengengrad, länge, laenge, geolänge, geographischelänge, longitud, gpslongitud, "
    "longitudine, lengtegraad, długość, długośćgeograficzna, zeměpisnádélka, längdgrad, lengdegrad, "
    "længdegrad, pituusaste, pituuspiiri, boylam, долгота, довгота, "
    "геодолгота, γεωγραφικόμήκος, bujur, kinhđộ, 经度, 經度, 経度, 경도, देशांतर, خطالطول, طولجغرافیایی"
)
SIZES = frozenset({"breite", "länge", "laenge", "szerokość", "długość"})
"""Which of these are also called the width and the length of things, as `plain` writes it."""
# By rank: what tells places apart best comes first; many of them may be in one city.
_NAMES = (
    "name, nom, nombre, nome, naam, namn, navn, nazwa, název, nimi, isim, ad, название, имя, назва, όνομα, "
    "nama, tên, 名称, 名稱, 名前, 名, 이름, नाम, الاسم, نام",
    "label, title, stopname, titel, titre, título, bezeichnung",
    "stop, station, location, site, branch, store, shop, customer, depot, filiale, standort, kunde, "
    "haltestelle, company, firma, warehouse, lager, supplier, lieferant, empresa, azienda, "
    "entreprise, laden, sucursal, tienda, cliente, magasin, client, negozio, loja, klant, klient, "
    "магазин, клиент",
    "address, adresse, anschrift, dirección, indirizzo, endereço, adres, адрес, 地址, 住所, 주소",
    "city, place, stadt, ort, ville, lieu, ciudad, lugar, cidade, città, luogo, plaats, miasto, město, stad, "
    "kaupunki, şehir, город, місто, πόλη, kota, thànhphố, 城市, 都市, 도시, शहर, المدينة, شهر",
)
_ID = ("id", "node, index, number, nr, #")
_UNIT = re.compile(  # in brackets, or behind x, y or z, where "in" may be the opposite of "out"
    r"(?:\s*[(\[]|(?<=^[xyz])[\s_.\-]*(?!in|grad))"
    r"(deg|degrees|decimal degrees|grad|°|m|km|mm|cm|ft|mi|px|in)[)\]]?$"
)


def plain(title: str) -> str:
    """A title in lower case, without what separates its words and the unit behind it.

    >>> plain("GPS_Lat (deg)"), plain("X (m)")
    ('gpslat', 'x')
    """
    text = _UNIT.sub("", unicodedata.normalize("NFC", title).strip().casefold())
    return re.sub(r"[\s_.\-]+", "", text)


def common_unit(titles: Iterable[str]) -> str:
    """The unit behind each of these titles, if lengths may have it; or nothing.

    Raises `InvalidProblem`: they have different ones, or one has none.

    >>> common_unit(["X (m)", "Y [m]"]), common_unit(["x_km", "y_km"]), common_unit(["x (ft)", "y (ft)"])
    ('m', 'km', '')
    """
    found = [_UNIT.search(title.strip().casefold()) for title in titles]
    units = sorted({"" if unit is None else unit[1] for unit in found}, reverse=True)
    if len(units) > 1:
        shown = " and ".join(unit or "an unknown unit" for unit in units)
        raise InvalidProblem(f"x and y are in {shown}: one unit for both is needed")
    return "".join(set(units) & METRES.keys())


def _words(*ranks: str) -> dict[str, int]:
    return {plain(word): rank for rank, words in enumerate(ranks) for word in words.split(",")}


KNOWN = {
    role: _words(*ranks)
    for role, ranks in zip(ROLES, ([_X], [_Y], [_Z], [_LATITUDE], [_LONGITUDE], _NAMES, _ID), strict=True)
}
"""What columns that hold each of `ROLES` are called, as `plain` writes it, with the rank of the name."""


def rank(title: str, role: str) -> float | None:
    """How well a column of this name suits for what a column can hold, 0 the best; None if it does not.

    >>> rank("Name", "name"), rank("Customer Name", "name"), rank("Price", "name")
    (0, 0.5, None)
    """
    known = KNOWN[role].get(plain(title))
    if known is not None or role != "name":
        return known
    words = list(filter(None, map(plain, re.split(r"[\W_]+", title))))
    ranks = [KNOWN[role].get(word) for word in words]
    if 0 not in ranks:
        return None
    return 0.5 if None not in ranks else float(len(_NAMES))


def has_longitude_first(title: str) -> bool | None:
    """Whether the title of a column with both coordinates names the longitude, or x, first.

    None if it does not name both.

    >>> [has_longitude_first(title) for title in ("Coordinates (lon, lat)", "lat_long", "pos")]
    [True, False, None]
    """
    words = re.split(r"[\W_]+", unicodedata.normalize("NFC", title).casefold())
    axes = "".join(map(_axes_of, words))
    return axes[0] == "x" if "x" in axes and "y" in axes else None


def _axes_of(word: str) -> str:
    """``x`` for the name of a longitude, ``y`` for that of a latitude, ``xy`` for ``lonlat``; or nothing."""
    halves = (_axis_of(word[:end]) + _axis_of(word[end:]) for end in range(1, min(len(word), 40)))
    return _axis_of(word) or next((axes for axes in halves if axes in ("xy", "yx")), "")


def _axis_of(word: str) -> str:
    for axis, roles in (("x", ("x", "lon")), ("y", ("y", "lat"))):
        if any(word in KNOWN[role] for role in roles):
            return axis
    return ""


def look_like_positions(titles: Iterable[str]) -> bool:
    """Whether these are names of columns, one for each of two directions at least."""
    names = {plain(title) for title in titles}
    first, second = (set().union(*(KNOWN[role] for role in roles)) for roles in (("x", "lat"), ("y", "lon")))
    return not names.isdisjoint(first) and not names.isdisjoint(second)


def free_title(title: str, taken: Container[str]) -> str:
    """Return a title that no other column has: the same, or with the first number that is free."""
    numbered = (f"{title} ({number})" for number in count(2))
    return next(free for free in chain([title], numbered) if free not in taken)
