import { type Static, Type } from 'typebox'
import { nullable, PRESSED_KEYS_PATTERN, strict } from '../../platform/http/schemas.ts'

const text = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, ...(description !== undefined && { description }) })
const phrases = (description: string) =>
  Type.Optional(Type.Array(text(500), { minItems: 1, maxItems: 50, description }))
const anything = Type.Record(Type.String(), Type.Unknown())

/** What a caller who follows a list does at one point of it. */
const Step = Type.Object(
  {
    say: Type.Optional(text(2_000)),
    press: Type.Optional(
      Type.String({ pattern: PRESSED_KEYS_PATTERN, description: 'Keys, told to the agent as one entry.' }),
    ),
    silence: Type.Optional(
      Type.Literal(true, { description: 'Says nothing for a third of the silence that ends a call.' }),
    ),
    hang_up: Type.Optional(Type.Literal(true)),
  },
  { additionalProperties: false, minProperties: 1, maxProperties: 1, description: 'Exactly one of these.' },
)

const Caller = Type.Object(
  {
    steps: Type.Optional(
      Type.Array(Step, { minItems: 1, maxItems: 50, description: 'What the caller does, one after each answer.' }),
    ),
    stays: Type.Optional(
      Type.Boolean({ description: 'With steps: says nothing behind the last one. Default false: hangs up.' }),
    ),
    persona: Type.Optional(text(4_000, 'Who calls, and how they are: the chat model plays them.')),
    goal: Type.Optional(text(1_000, 'With persona: what they want. They hang up when they have it, or never will.')),
    max_turns: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 40,
        description: 'With persona: then the call ends by a limit. Default 10.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Either steps or persona.' },
)

const Call = strict({
  direction: Type.Optional(Type.Enum(['inbound', 'outbound'], { description: 'Default inbound.' })),
  from: Type.Optional(text(100, 'Default +12025550147, for an outbound call the agent.')),
  to: Type.Optional(text(100, 'Default the agent, for an outbound call +12025550147.')),
  org_id: Type.Optional(nullable(text(200))),
  metadata: Type.Optional(anything),
})

const ToolResult = Type.Object(
  {
    name: text(200),
    arguments: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Only for calls that have these among theirs.' }),
    ),
    output: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'What the model is told.' })),
    error: Type.Optional(text(1_000, 'In place of output: the tool fails, and why.')),
  },
  { additionalProperties: false, description: 'Either output or error.' },
)

const Range = strict({ min: Type.Optional(Type.Number()), max: Type.Optional(Type.Number()) })

/** Who ended a simulated call. `limit`: nobody did, it was long enough. */
export const ENDED_BY = ['agent', 'caller', 'transfer', 'limit'] as const
export type EndedBy = (typeof ENDED_BY)[number]

const Expectations = strict({
  heard: phrases('What the agent says, in this order; letters and digits count, nothing else.'),
  not_heard: phrases('What it does not say.'),
  matches: phrases('Regular expressions, upper case like lower: of each some turn of the agent has a match.'),
  not_matches: phrases('Regular expressions of which no turn of the agent has a match.'),
  tools: Type.Optional(
    Type.Array(
      strict({
        name: text(200),
        arguments: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), { description: 'Among those of the call, and equal.' }),
        ),
        output: Type.Optional(text(500, 'What the model was told has this in it.')),
      }),
      { minItems: 1, maxItems: 50, description: 'Called, in this order; others may be between them.' },
    ),
  ),
  not_called: phrases('Names of tools that are not called.'),
  outcome: Type.Optional(
    strict({
      outcome: Type.Optional(text(200, 'The outcome that was recorded last has this in it.')),
      tags: Type.Optional(Type.Array(text(64), { minItems: 1, maxItems: 20, description: 'All recorded.' })),
    }),
  ),
  ended_by: Type.Optional(Type.Enum(ENDED_BY)),
  turns: Type.Optional(Range),
  reply_ms: Type.Optional(Range),
})

/** A call that nobody makes, and what is to be true of it. */
export const Scenario = strict({
  name: text(200, 'Unlike those of the others.'),
  description: Type.Optional(Type.String({ maxLength: 2_000 })),
  call: Type.Optional(Call),
  caller: Caller,
  tool_results: Type.Optional(
    Type.Array(ToolResult, {
      maxItems: 50,
      description: 'What tools answer in place of themselves: the first that fits.',
    }),
  ),
  expect: Type.Optional(Expectations),
})
export type Scenario = Static<typeof Scenario>
export type Expectations = Static<typeof Expectations>
export type CallerStep = Static<typeof Step>
export type NumberRange = Static<typeof Range>
