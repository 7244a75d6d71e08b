import { functionDescription, functionName, MAX_TOOLS, soundFunction } from './function-tool.ts'
import { ModelError } from './model-error.ts'
import {
  anything,
  boolean,
  decimal,
  integer,
  list,
  nullable,
  object,
  oneOf,
  record,
  type Shape,
  type Shaped,
  text,
  textOr,
  variants,
} from './shape.ts'

const TOKENS_MAX = 4096
const VOICES = ['alloy', 'ash', 'ballad', 'coral', 'echo', 'sage', 'shimmer', 'verse', 'marin', 'cedar'] as const

/** An audio format on the wire: G.711 in either law, or 16-bit samples at 24 kHz. */
export const audioFormat = variants('type', {
  'audio/pcm': object({ type: oneOf(['audio/pcm']) }, { rate: integer(24_000, 24_000) }),
  'audio/pcmu': object({ type: oneOf(['audio/pcmu']) }, {}),
  'audio/pcma': object({ type: oneOf(['audio/pcma']) }, {}),
})

const modalityList = list(oneOf(['text', 'audio']))

/** Speech or text, never both in one response. */
export const outputModalities: Shape<Shaped<typeof modalityList>> = (value, path) => {
  const modalities = modalityList(value, path)
  if (modalities.length === 1) return modalities
  const message = `Invalid modalities: ${JSON.stringify(modalities)}. Supported combinations are: ["text"] and ["audio"].`
  throw new ModelError('invalid_value', message, path)
}

/** One of the built-in voices, or a custom one by its id. */
export const voice = textOr(oneOf(VOICES), object({ id: text() }, {}))

/** The most tokens of one response. */
export const maxOutputTokens = textOr(oneOf(['inf']), integer(1, TOKENS_MAX))

/** How the model may choose tools. */
export const toolChoice = textOr(
  oneOf(['auto', 'none', 'required']),
  variants('type', {
    function: object({ type: oneOf(['function']), name: text() }, {}),
    mcp: object({ type: oneOf(['mcp']), server_label: text() }, { name: nullable(text()) }),
  }),
)

const functionTool = soundFunction(
  object(
    { type: oneOf(['function']), name: functionName },
    { description: functionDescription, parameters: record(anything) },
  ),
)
const mcpTool = object(
  { type: oneOf(['mcp']), server_label: text() },
  {
    server_url: text(),
    server_description: text(),
    connector_id: text(),
    tunnel_id: text(),
    allowed_callers: anything,
    defer_loading: boolean,
    authorization: text(),
    headers: nullable(record(text())),
    allowed_tools: anything,
    require_approval: anything,
  },
)

/** What the model may call. */
export const tools = list(variants('type', { function: functionTool, mcp: mcpTool }), MAX_TOOLS)

/** Labels that a client hangs on a response: at most 16 pairs. */
export const metadata = nullable(record(text(512), 16))

/** A stored prompt and its variables. */
export const prompt = nullable(
  object({ id: text() }, { version: nullable(text()), variables: nullable(record(anything)) }),
)

/** How much a model that reasons may do so. */
export const reasoning = object({}, { effort: oneOf(['minimal', 'low', 'medium', 'high', 'xhigh']) })

const turnDetection = variants('type', {
  server_vad: object(
    { type: oneOf(['server_vad']) },
    {
      threshold: decimal(0, 1),
      prefix_padding_ms: integer(0, 10_000),
      silence_duration_ms: integer(0, 10_000),
      idle_timeout_ms: nullable(integer(5_000, 30_000)),
      create_response: boolean,
      interrupt_response: boolean,
    },
  ),
  semantic_vad: object(
    { type: oneOf(['semantic_vad']) },
    { eagerness: oneOf(['low', 'medium', 'high', 'auto']), create_response: boolean, interrupt_response: boolean },
  ),
})

/** ISO 639-1: a tag with a country or a script is refused, and the whole session with it. */
const language: Shape<string> = (value, path) => {
  const code = text()(value, path)
  if (/^[a-z]{2}$/.test(code)) return code
  throw new ModelError('invalid_value', `Invalid value: '${code}'. Supported values are codes such as 'en'.`, path)
}

const transcription = object(
  {},
  {
    model: text(),
    language,
    prompt: text(),
    languages: list(text()),
    keywords: list(text()),
    delay: oneOf(['minimal', 'low', 'medium', 'high', 'xhigh']),
  },
)

const noiseReduction = object({}, { type: oneOf(['near_field', 'far_field']), strength: decimal(0, 1) })

const tracing = textOr(
  oneOf(['auto']),
  object({}, { workflow_name: text(), group_id: text(), metadata: record(anything) }),
)

const truncation = textOr(
  oneOf(['auto', 'disabled']),
  object(
    { type: oneOf(['retention_ratio']), retention_ratio: decimal(0, 1) },
    { token_limits: object({}, { post_instructions: integer(0, 1_000_000) }) },
  ),
)

/** The `session` of a `session.update`: everything that a client may set, and nothing from before general availability. */
export const sessionUpdate = object(
  { type: oneOf(['realtime']) },
  {
    model: text(),
    instructions: text(),
    output_modalities: outputModalities,
    audio: object(
      {},
      {
        input: object(
          {},
          {
            format: audioFormat,
            transcription: nullable(transcription),
            noise_reduction: nullable(noiseReduction),
            turn_detection: nullable(turnDetection),
          },
        ),
        output: object({}, { format: audioFormat, voice, speed: decimal(0.25, 1.5) }),
      },
    ),
    tools,
    tool_choice: toolChoice,
    parallel_tool_calls: boolean,
    reasoning,
    max_output_tokens: maxOutputTokens,
    tracing: nullable(tracing),
    truncation,
    prompt,
    include: nullable(list(oneOf(['item.input_audio_transcription.logprobs']))),
  },
)

/** A checked `session`. */
export type SessionUpdate = Shaped<typeof sessionUpdate>
/** A checked audio format. */
export type AudioFormat = Shaped<typeof audioFormat>
/** A checked list of tools. */
export type Tools = Shaped<typeof tools>
