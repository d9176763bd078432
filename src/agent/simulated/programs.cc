#include "agent/simulated/programs.h"

#include <yaml-cpp/yaml.h>

#include "agent/process/images.h"

namespace krater::agent {

Result<Programs> Programs::parse_yaml(const std::string& text) {
  try {
    const YAML::Node list = YAML::Load(text)["programs"];
    if (!list || !list.IsSequence())
      return make_error(Code::Invalid, "the list of programs needs a list `programs`");
    std::vector<Program> out;
    for (const YAML::Node& node : list) {
      Program program;
      program.match = node["match"].as<std::string>("");
      if (program.match.empty())
        return make_error(Code::Invalid, "an entry of the list of programs has no `match`");
      if (node["lasts"]) {
        const std::string lasts = node["lasts"].as<std::string>();
        program.lasts = parse_go_duration(lasts);
        if (!program.lasts || *program.lasts < Duration(0)) {
          return make_error(Code::Invalid, "program " + program.match +
                                               ": `lasts` must be a time such as 10s, not \"" +
                                               lasts + "\"");
        }
      }
      program.exit_code = node["exitCode"].as<int>(0);
      if (program.exit_code < 0 || program.exit_code > 255) {
        return make_error(Code::Invalid,
                          "program " + program.match + ": `exitCode` must be between 0 and 255");
      }
      out.push_back(std::move(program));
    }
    return Programs(std::move(out));
  } catch (const YAML::Exception& problem) {
    return make_error(Code::Invalid,
                      std::string("the list of programs is not valid YAML: ") + problem.what());
  }
}

const Program* Programs::find(std::string_view command_line) const {
  for (const Program& program : list_) {
    if (glob_matches(program.match, command_line)) return &program;
  }
  return nullptr;
}

}  // namespace krater::agent
