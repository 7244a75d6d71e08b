import { type Brain, REHEARSAL, ScriptedBrain } from './brain.ts'
import type { Script } from './script.ts'

/** How a session says which script it follows; the first that names a known one decides. */
export type ScriptHints = {
  /** The `script` parameter of the connection's address. */
  query: string | null
  /** The model: `anything:name` names a script. */
  model: string
  /** Instructions that hold `[script: name]`. */
  instructions: string
  /** `metadata.script` of the response asked for. */
  metadata: string | null
}

const TOKEN = /\[script:\s*([\w.-]+)\s*\]/i

/** The scripts that sessions can follow, by name. */
export class ScriptBook {
  #scripts = new Map<string, () => Brain>()
  #fallback: () => Brain = () => new ScriptedBrain(REHEARSAL)

  /**
   * Adds or replaces a script. Each session follows it from its beginning; with `isShared` all sessions are one
   * conversation, so that a model session that takes over from a lost one goes on where that one stopped.
   */
  set(name: string, script: Script, options: { isShared?: boolean } = {}): void {
    this.#scripts.set(name, openerOf(script, options.isShared ?? false))
  }

  /** What sessions follow that name no script; null for the plain rehearsal. `isShared` as for `set`. Returns what puts the one before back. */
  setDefault(script: Script | null, options: { isShared?: boolean } = {}): () => void {
    const before = this.#fallback
    this.#fallback = openerOf(script ?? REHEARSAL, options.isShared ?? false)
    return () => {
      this.#fallback = before
    }
  }

  /** Forgets a script; sessions that follow it go on. Tells whether there was one. */
  delete(name: string): boolean {
    return this.#scripts.delete(name)
  }

  /** The brain for a session. */
  open(hints: ScriptHints): Brain {
    const { query, model, instructions, metadata } = hints
    const names = [query, model.split(':').at(-1), TOKEN.exec(instructions)?.[1], metadata]
    for (const name of names) {
      const opener = name ? this.#scripts.get(name) : undefined
      if (opener) return opener()
    }
    return this.#fallback()
  }
}

function openerOf(script: Script, isShared: boolean): () => Brain {
  if (!isShared) return () => new ScriptedBrain(script)
  const brain = new ScriptedBrain(script)
  return () => brain
}
