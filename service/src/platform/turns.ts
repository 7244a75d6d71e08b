/**
 * Work that can wait a moment, and gives way to what cannot: each time round the event loop, once everything was read that had come on
 * sockets, one piece of it is done. A call begins and ends with dozens of such pieces, of up to some milliseconds; were those
 * that have come to be due together done together, the audio of all other calls would wait for all of them.
 */
const waiting: (() => void)[] = []
let isScheduled = false

/** Does `task` when it is its turn: those that were given before it come before it. What it throws is nobody's. */
export function inTurn(task: () => void): void {
  waiting.push(task)
  if (isScheduled) return
  isScheduled = true
  setImmediate(next)
}

function next(): void {
  const task = waiting.shift()
  isScheduled = waiting.length > 0
  if (isScheduled) setImmediate(next)
  task?.()
}
