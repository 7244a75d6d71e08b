import { takenTools } from '../../function-tools.ts'
import type { Log } from '../../log.ts'
import type { ModelSetup } from '../port.ts'
import type { ProviderError } from './faults.ts'
import { type ModelDefaults, sessionUpdate } from './session-update.ts'

/** A server that refuses more tools one by one is not told of the rest: the caller waits meanwhile. */
const MAX_REFUSED = 8

/** Where the provider says that a tool is at fault, and which. */
const BY_PLACE = /^session\.tools\[(\d+)\]/
const BY_NAME = /\bfunction '([^']+)'/

/** The settings of one session, as they are sent; those that were refused for a tool are sent again without it. */
export class SetupFrames {
  readonly instructions: string
  readonly #setup: ModelSetup
  readonly #defaults: ModelDefaults
  #tools: ModelSetup['tools']
  #refused = 0

  constructor(setup: ModelSetup, defaults: ModelDefaults, log: Log | null) {
    this.instructions = setup.instructions
    this.#setup = setup
    this.#defaults = defaults
    this.#tools = takenTools(setup.tools, log)
  }

  frame(): Buffer {
    return sessionUpdate({ ...this.#setup, tools: this.#tools }, this.#defaults)
  }

  /** Takes out the tool that an error is about. Its name; null when it is about none, or too many were refused. */
  leaveOut({ code, param, message }: ProviderError): string | null {
    const [, place] = BY_PLACE.exec(param ?? '') ?? []
    const [, named] = (code === 'invalid_function_parameters' && BY_NAME.exec(message)) || []
    const at = place === undefined ? this.#tools.findIndex(({ name }) => name === named) : Number(place)
    const tool = this.#tools[at]
    if (tool === undefined || this.#refused === MAX_REFUSED) return null
    this.#refused += 1
    this.#tools = this.#tools.filter((each) => each !== tool)
    return tool.name
  }
}
