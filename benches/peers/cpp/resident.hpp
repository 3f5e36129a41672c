// Answers the requests of the suites: one line on standard input, one on standard output, see benches/README.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace resident {

// Does what a row does, once, and returns its check value.
using Operation = std::function<std::uint64_t()>;

inline std::string answer(const std::string& request, const Operation& operation, long count) {
    // Allocations are not counted.
    if (!operation || request != "run") return "none";
    std::uint64_t check = 0;
    const auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < count; ++i) check = operation();
    const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
    return "ok\t" + std::to_string(time.count()) + "\t" + std::to_string(check);
}

// Answers requests until the end of input. `set_up` prepares an implementation of a row, and returns an empty operation if
// there is none; it is called once for each.
inline void serve(const std::function<Operation(const std::string& row, const std::string& name)>& set_up) {
    std::map<std::string, Operation> ready;
    for (std::string line; std::getline(std::cin, line);) {
        std::string text;
        try {
            std::istringstream fields(line);
            std::string request, row, name, count;
            for (auto* field : {&request, &row, &name, &count}) std::getline(fields, *field, '\t');
            const auto key = row + '\t' + name;
            if (!ready.contains(key)) ready[key] = set_up(row, name);
            text = answer(request, ready[key], std::stol(count));
        } catch (const std::exception& error) {
            text = std::string("error\t") + error.what();
        }
        std::cout << text << std::endl;
    }
}

}  // namespace resident
