type Signal = AbortSignal | undefined

/** Resolves after that time, or at once when the signal aborts. */
export function pause(ms: number, signal: Signal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done)
    if (signal?.aborted) done()
  })
}

/** What comes of work whose signal aborts after that time, and with the one given. */
export async function within<Result>(ms: number, signal: Signal, work: (signal: AbortSignal) => Promise<Result>) {
  const ending = new AbortController()
  const leave = () => ending.abort(signal?.reason)
  const timer = setTimeout(() => ending.abort(new Error(`There was no answer within ${ms / 1_000} s.`)), ms)
  signal?.addEventListener('abort', leave)
  if (signal?.aborted) leave()
  try {
    return await work(ending.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
  }
}

/** What others wait for, too. @throws the signal's reason, which ends this wait alone. */
export function unlessAborted<Result>(shared: Promise<Result>, signal: Signal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal?.reason)
    signal?.addEventListener('abort', leave)
    if (signal?.aborted) leave()
    void shared.then(resolve, reject).finally(() => signal?.removeEventListener('abort', leave))
  })
}

/** As long, or longer by chance: so that those who lost the same node do not all come back in the same moment. */
export function upToTwice(ms: number): number {
  return ms * (1 + Math.random())
}
