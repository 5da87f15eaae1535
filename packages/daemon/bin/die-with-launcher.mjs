// Preloaded by the launcher into the Node 24 it starts. The pair is one program to anyone who started it: when the launcher
// is killed without a chance to pass it on (SIGKILL), the program is too, and no daemon is left that nobody knows of.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// The channel alone must not keep the program alive.
process.channel?.unref();
