/** What of a call a prompt can name. */
export type PromptFacts = {
  /** The other side's number, as the call log has it. */
  caller: string
  tenant: string
  tenant_name: string
  org_id: string
  agent_name: string
  greeting: string
  direction: string
  from: string
  to: string
  call_sid: string
  /** As the tenant's clocks showed it when the call began, with its weekday, and what their zone is called. */
  local_time: string
  time_zone: string
  /** What whoever placed or routed the call has said of it. */
  metadata: Record<string, unknown>
}

/** A caller chooses some of these (`sip:…`). */
const MAX_VALUE_CHARS = 2_000
/** Of all that is filled in: one that is named over and over would make more of a prompt than models read, and than a call can hold. */
const MAX_FILLED_CHARS = 64_000

/** Members of the metadata are named in any language. */
const VARIABLE = /\{\{\s*([\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)*)\s*\}\}/gu

/**
 * Fills `{{name}}` in from the call: `{{caller}}`, `{{metadata.order.id}}`, and `{{order}}` for a member of the metadata whose
 * name is none of the call's own. What is not known is left out; an object is written as JSON. Where
 * all values together would be too long, those that do not fit are left out, too.
 */
export function fillPrompt(text: string, facts: PromptFacts): string {
  const known = new Map<string, string>()
  let leftChars = MAX_FILLED_CHARS
  return text.replaceAll(VARIABLE, (_whole, path: string) => {
    const value = known.get(path) ?? written(found(facts, path.split('.')))
    known.set(path, value)
    if (value.length > leftChars) return ''
    leftChars -= value.length
    return value
  })
}

function found(facts: PromptFacts, path: string[]): unknown {
  const [first = ''] = path
  return Object.hasOwn(facts, first) ? memberOf(facts, path) : memberOf(facts.metadata, path)
}

function memberOf(whole: unknown, path: string[]): unknown {
  return path.reduce<unknown>((at, name) => {
    const isHolder = typeof at === 'object' && at !== null && Object.hasOwn(at, name)
    return isHolder ? (at as Record<string, unknown>)[name] : undefined
  }, whole)
}

/** On one line: no value can pass for a paragraph of the prompt. */
function written(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.slice(0, MAX_VALUE_CHARS).toWellFormed().replaceAll(/\s+/g, ' ').trim()
}
