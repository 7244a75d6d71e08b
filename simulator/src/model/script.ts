import { anything, boolean, integer, list, object, record, type Shape, type Shaped, text } from './shape.ts'

const TURN_MAX = 1_000

const toolCall = object({ name: text() }, { arguments: record(anything) })

const oneOrMore = <T>(shape: Shape<T>): Shape<T | T[]> => {
  const several = list(shape)
  return (value, path) => (Array.isArray(value) ? several(value, path) : shape(value, path))
}

const when = object(
  {},
  {
    greeting: boolean,
    turn: integer(1, TURN_MAX),
    says: oneOrMore(text()),
    dtmf: text(),
    after_tool: text(),
    instructed: boolean,
  },
)

const thinkMs = integer(0, 600_000)

const rule = object(
  {},
  {
    when,
    ahead: object({ say: text() }, { think_ms: thinkMs }),
    say: oneOrMore(text()),
    call: oneOrMore(toolCall),
    end: boolean,
    think_ms: thinkMs,
  },
)

/** What a script says, as data: the rules in their order, what to say where none fits, the tool that ends a call. */
export const scriptShape = object({ rules: list(rule) }, { name: text(), otherwise: list(text()), end_tool: text() })

/** When a rule applies: all of the given conditions must hold, so none at all is always. */
export type When = Shaped<typeof when>
/** What to say and call when. */
export type Rule = Shaped<typeof rule>
/** A brain's script. `says` looks for words or a phrase, `dtmf` for exactly these keys or `any`, `after_tool` for a tool or `any`. */
export type Script = Shaped<typeof scriptShape>
/** A function to be called; arguments are `{}` unless given. */
export type ToolCall = Shaped<typeof toolCall>

/** Checks a script. @throws ModelError that names the field, counted from `path`. */
export function readScript(value: unknown, path: string): Script {
  return scriptShape(value, path)
}
