// The documents of the suite json.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace documents {

// The document of a row without its direction, such as `citm_10k` or `api_response`; empty if there is none.
inline std::string of(const std::string& name) {
    const char* folder = std::getenv("BENCH_DOCUMENTS");
    if (folder == nullptr) return "";
    std::ifstream file(std::string(folder) + '/' + name + ".json", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Removes an ending. Returns whether there was one.
inline bool cut(std::string& name, const std::string& ending) {
    if (!name.ends_with(ending)) return false;
    name.resize(name.size() - ending.size());
    return true;
}

// Removes the direction from a row. Returns whether the row decodes; `is_known` says whether it does either.
inline bool decodes(std::string& row, bool& is_known) {
    is_known = true;
    if (cut(row, "_decode") || cut(row, "_unmarshal_sonic")) return true;
    is_known = cut(row, "_encode") || cut(row, "_sonic");
    return false;
}

}  // namespace documents
