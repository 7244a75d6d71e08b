/** The timers of one owner: all of them end when it does. */
export class Timers {
  #pending = new Set<NodeJS.Timeout>()
  #sleepers = new Set<() => void>()
  #closed = false

  /** Runs `task` once after `delayMs`, unless cancelled by the returned function or closed before. */
  after(delayMs: number, task: () => void): () => void {
    if (this.#closed) return () => {}
    const timer = setTimeout(() => {
      this.#pending.delete(timer)
      task()
    }, delayMs)
    this.#pending.add(timer)
    return () => {
      this.#pending.delete(timer)
      clearTimeout(timer)
    }
  }

  /** Waits; true after `delayMs`, or at once when closed; false as soon as the signal aborts. */
  sleep(delayMs: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false)
    if (this.#closed) return Promise.resolve(true)
    return new Promise((resolve) => {
      const settle = (isOver: boolean) => {
        cancel()
        this.#sleepers.delete(wake)
        signal.removeEventListener('abort', abort)
        resolve(isOver)
      }
      const wake = () => settle(true)
      const abort = () => settle(false)
      const cancel = this.after(delayMs, wake)
      this.#sleepers.add(wake)
      signal.addEventListener('abort', abort, { once: true })
    })
  }

  /** Cancels all tasks and ends all sleeps; later tasks never start. */
  close(): void {
    this.#closed = true
    for (const timer of this.#pending) clearTimeout(timer)
    this.#pending.clear()
    for (const wake of [...this.#sleepers]) wake()
  }
}
