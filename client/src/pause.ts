import { onAbort } from './on-abort.ts'

type Signal = AbortSignal | undefined

/** Resolves after that time, or at once when the signal aborts. */
export async function pause(ms: number, signal: Signal): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  let forget = () => {}
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
    forget = onAbort(signal, resolve)
  })
  clearTimeout(timer)
  forget()
}

/** What comes of work whose signal aborts after that time, and with the one given. */
export async function within<Result>(ms: number, signal: Signal, work: (signal: AbortSignal) => Promise<Result>) {
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(new Error(`There was no answer within ${ms / 1_000} s.`)), ms)
  const forget = onAbort(signal, () => ending.abort(signal?.reason))
  try {
    return await work(ending.signal)
  } finally {
    clearTimeout(timer)
    forget()
  }
}

/** What others wait for, too. @throws the signal's reason, which ends this wait alone. */
export async function unlessAborted<Result>(shared: Promise<Result>, signal: Signal): Promise<Result> {
  let forget = () => {}
  const left = new Promise<void>((resolve) => {
    forget = onAbort(signal, resolve)
  })
  await Promise.race([shared, left])
  forget()
  signal?.throwIfAborted()
  return shared
}

/** As long, or longer by chance: so that those who lost the same node do not all come back in the same moment. */
export function upToTwice(ms: number): number {
  return ms * (1 + Math.random())
}
