/** What of the call a tool's address and headers can name, beside its arguments. */
const CALL_PLACEHOLDERS = ['call.caller', 'call.call_sid', 'call.session_id', 'call.tenant', 'call.agent_name'] as const

/** `{{name}}`, also with blanks around it, where a name is that of an argument, in any language, or `call.` and what is known of the call. */
const PLACEHOLDER = /\{\{\s*([\p{L}\p{M}\p{N}_.-]{1,128})\s*\}\}/gu

/** The names that a text has between double braces, each once. */
export function placeholdersIn(text: string): string[] {
  return [...new Set([...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name))]
}

/** The text with what `textFor` says in place of each `{{name}}`. What it throws is thrown. */
export function fillPlaceholders(text: string, textFor: (name: string) => string): string {
  return text.replaceAll(PLACEHOLDER, (_whole, name: string) => textFor(name))
}

/**
 * Why `address` cannot be filled, or null. Whatever a model puts in must not decide who is asked, so the host is fixed.
 *
 * @param known the names of the tool's arguments.
 */
export function addressTemplateFault(address: string, known: readonly string[]): string | null {
  if (URL.parse(address)?.host.includes('{')) return 'must not have {{…}} in its host'
  return unknownFault(address, known)
}

/** Why a text names what there is not, or null. */
export function unknownFault(text: string, known: readonly string[]): string | null {
  const all = new Set<string>([...known, ...CALL_PLACEHOLDERS])
  const unknown = placeholdersIn(text).find((name) => !all.has(name))
  return unknown === undefined ? null : `names {{${unknown}}}, which is no argument and nothing of the call`
}
