/** So much of a tool's arguments, and of its answer, a model session is told that was not there. */
const MAX_NOTE_CHARS = 500

/** What a model session that was not there is told of a tool that was called. */
export function calledWith(name: string, argumentsText: string): string {
  return `The tool ${name} was called with ${short(argumentsText)}`
}

/** What it is told of the tool's answer. */
export function hasAnswered(name: string, output: string): string {
  return `The tool ${name} has answered: ${short(output)}`
}

/** What it is told of a tool whose process ended, or lost the call, before there was an answer. */
export function hasNotAnswered(name: string): string {
  return (
    `The tool ${name} has not answered: it is not known whether it was done. ` +
    'Do not call it again for the same, unless that can do no harm or the caller wants it.'
  )
}

function short(text: string): string {
  return text.slice(0, MAX_NOTE_CHARS).toWellFormed()
}
