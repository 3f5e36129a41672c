// Rows of the suite json for yyjson: trees.

#include <yyjson.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "documents.hpp"
#include "resident.hpp"

// The number of values in the root, where an array counts its elements.
static std::uint64_t checked(yyjson_doc* document) {
    std::uint64_t check = 0;
    std::size_t index, count;
    yyjson_val *key, *value;
    yyjson_obj_foreach(yyjson_doc_get_root(document), index, count, key, value) {
        check += yyjson_is_arr(value) ? yyjson_arr_size(value) : 1;
    }
    return check;
}

int main() {
    resident::serve([](std::string row, const std::string& name) -> resident::Operation {
        bool is_known;
        const bool decodes = documents::decodes(row, is_known);
        const auto text = is_known && name == "yyjson" ? documents::of(row) : "";
        if (text.empty()) return {};
        if (decodes) {
            return [text] {
                auto* document = yyjson_read(text.data(), text.size(), 0);
                const auto check = checked(document);
                yyjson_doc_free(document);
                return check;
            };
        }
        const std::shared_ptr<yyjson_doc> tree(yyjson_read(text.data(), text.size(), 0), yyjson_doc_free);
        if (!tree) throw std::runtime_error("the document cannot be read");
        return [tree] {
            std::size_t length = 0;
            std::free(yyjson_write(tree.get(), 0, &length));
            return static_cast<std::uint64_t>(length);
        };
    });
}
