const MISUSED = 2

/**
 * What a command of contributors is asked to do. Null where that was `--help`, or makes no sense: then it has been said, and the exit code of
 * the process is set. `parse` throws Error with a sentence for the user.
 */
export function readCommand<Options extends { help?: boolean }>(
  usage: string,
  parse: (args: string[]) => Options,
): Options | null {
  try {
    const options = parse(process.argv.slice(2))
    if (!options.help) return options
    process.stdout.write(`${usage.trimEnd()}\n`)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage.trimEnd()}\n`)
    process.exitCode = MISUSED
  }
  return null
}
