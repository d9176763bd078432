// The shim: one small process a pod. It makes the sandbox, starts containers, writes their logs,
// remembers how they ended, and answers the agent over a unix socket; agents come and go, the pod
// stays. One thread, one poll loop. Under DIR: sandbox.json (in), shim.sock, state.json,
// containers/<name>/record.json, logs/<name>/<attempt>.log.
#pragma once

namespace krater::agent {

// `krater shim --dir DIR [--ready]` runs a pod's shim and says on descriptor 3 how that went;
// `--clean-up` takes down what a shim that died has left; `--remove` deletes DIR. Returns the exit
// code. Not for users.
int shim_main(int argc, char** argv);

}  // namespace krater::agent
