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
/** Where it says that what the caller says cannot be written down as it is asked to. */
const TRANSCRIPTION = /^session\.audio\.input\.transcription\b/
const TRANSCRIBER = /\.model$/

/** What the provider names for models that write down what was said and that it shuts down on 2027-02-26, the usual one among them. */
const SUCCESSOR = 'gpt-transcribe'

/** Where it says that the model does not reason, or not so; some errors name no place. */
const REASONING = /^session\.reasoning\b/
const ABOUT_REASONING = /\breasoning\b/i

/** What a session goes without, by its name in the log. */
type LeftOut = { tool: string } | { transcription_model: string } | { reasoning_effort: string }

/** The settings of one session, as they are sent; those that were refused for a part that calls can do without are sent again without it. */
export class SetupFrames {
  readonly instructions: string
  readonly #setup: ModelSetup
  readonly #defaults: ModelDefaults
  #tools: ModelSetup['tools']
  #transcription: ModelSetup['transcription'] | null
  /** Who else may write down what the caller says, in their order. */
  readonly #otherTranscribers: string[]
  #reasoningEffort: ModelSetup['reasoningEffort']
  #refused = 0

  constructor(setup: ModelSetup, defaults: ModelDefaults, log: Log | null) {
    this.instructions = setup.instructions
    this.#setup = setup
    this.#defaults = defaults
    this.#transcription = setup.transcription
    const asked = setup.transcription.model ?? defaults.transcriptionModel
    this.#otherTranscribers = [defaults.transcriptionModel, SUCCESSOR].filter((model) => model !== asked)
    this.#reasoningEffort = setup.reasoningEffort
    this.#tools = takenTools(setup.tools, log)
  }

  frame(): Buffer {
    const left = { tools: this.#tools, transcription: this.#transcription, reasoningEffort: this.#reasoningEffort }
    return sessionUpdate({ ...this.#setup, ...left }, this.#defaults)
  }

  /** Takes out what an error is about; null when it is about nothing that can be left out, or too much was refused. */
  leaveOut(error: ProviderError): LeftOut | null {
    const { param } = error
    if (param !== null && TRANSCRIPTION.test(param)) return this.#leaveOutTranscription(param)
    return this.#leaveOutReasoning(error) ?? this.#leaveOutTool(error)
  }

  /** The model reasons as it does by itself, if it does. */
  #leaveOutReasoning({ param, message }: ProviderError): LeftOut | null {
    const refused = this.#reasoningEffort
    const isAboutIt = param === null ? ABOUT_REASONING.test(message) : REASONING.test(param)
    if (refused === null || !isAboutIt) return null
    this.#reasoningEffort = null
    return { reasoning_effort: refused }
  }

  /** The language, or whoever was asked to write down what the caller says: then the next one does, and in the end nobody. */
  #leaveOutTranscription(param: string): LeftOut | null {
    const refused = this.#transcription
    if (refused === null) return null
    this.#transcription = this.#transcriptionAfter(refused, param)
    return { transcription_model: refused.model ?? this.#defaults.transcriptionModel }
  }

  #transcriptionAfter(refused: ModelSetup['transcription'], param: string): ModelSetup['transcription'] | null {
    if (refused.language !== null && !TRANSCRIBER.test(param)) return { ...refused, language: null }
    const model = this.#otherTranscribers.shift()
    return model === undefined ? null : { ...refused, model }
  }

  #leaveOutTool({ code, param, message }: ProviderError): LeftOut | null {
    const [, place] = BY_PLACE.exec(param ?? '') ?? []
    const [, named] = (code === 'invalid_function_parameters' && BY_NAME.exec(message)) || []
    const at = place === undefined ? this.#tools.findIndex(({ name }) => name === named) : Number(place)
    const tool = this.#tools[at]
    if (tool === undefined || this.#refused === MAX_REFUSED) return null
    this.#refused += 1
    this.#tools = this.#tools.filter((each) => each !== tool)
    return { tool: tool.name }
  }
}
