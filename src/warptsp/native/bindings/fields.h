// Structs of parameters as Python has them: keyword arguments, or the usual values; frozen, with their names in
// `fields`. One line a field, and its default is the struct's own.
#pragma once
#include "common.h"

namespace warptsp {

template <class Struct, class Member>
struct Field {
  const char *name;
  Member Struct::*member;
  const char *doc;
};

template <class Struct, class Member>
Field<Struct, Member> field(const char *name, Member Struct::*member, const char *doc) {
  return {name, member, doc};
}

// `check` raises what is wrong with one.
template <class Struct, class... Members>
nb::class_<Struct> bind_fields(nb::module_ &m, const char *name, const char *doc, void (*check)(const Struct &),
                               Field<Struct, Members>... fields) {
  const Struct usual{};
  nb::class_<Struct> bound(m, name, doc);
  bound.def(
      "__init__",
      [=](Struct *self, Members... values) {
        Struct made;
        ((made.*fields.member = values), ...);
        check(made);
        new (self) Struct(made);
      },
      nb::kw_only(), (nb::arg(fields.name) = usual.*fields.member)...);
  (bound.def_ro(fields.name, fields.member, fields.doc), ...);
  const auto as_dict = [=](const Struct &self) {
    nb::typed<nb::dict, nb::str, nb::any> all;
    ((all[fields.name] = self.*fields.member), ...);
    return all;
  };
  bound.def("as_dict", as_dict, "The values by their names.");
  bound.def(
      "replace",
      [=](nb::typed<nb::object, Struct> self, nb::kwargs changes) {
        nb::dict all = as_dict(nb::cast<const Struct &>(self));
        all.update(changes);
        return nb::typed<nb::object, Struct>(self.type()(**all));
      },
      nb::sig("def replace(self, **changes: object) -> typing.Self"),
      "One with other values of the fields that are named.");
  bound.def_prop_ro_static(
      "fields", [=](nb::handle) { return nb::typed<nb::tuple, nb::str, nb::ellipsis>(nb::make_tuple(fields.name...)); },
      "Their names.");
  return bound;
}

}  // namespace warptsp
