import { Ajv2020 } from 'ajv/dist/2020.js'
import { argumentFaults, ToolRefusal } from './tool.ts'

/** Whether regular expressions of a schema are looked at. A server's may take for ever; it checks its arguments itself, too. */
type Options = { takesPatterns: boolean }

/**
 * Makes the check of a tenant's own schema (draft 2020-12). It is compiled when it is first asked: most calls use few tools.
 *
 * The check throws ToolRefusal for arguments that are no object, or do not fit.
 */
export function makeArgumentCheck(
  schema: Record<string, unknown>,
  { takesPatterns }: Options = { takesPatterns: false },
): (args: unknown) => Record<string, unknown> {
  let isValid: ReturnType<Ajv2020['compile']> | null = null
  return (args) => {
    if (typeof args !== 'object' || args === null || Array.isArray(args)) {
      throw new ToolRefusal('arguments must be an object')
    }
    // A compiler of its own: a shared one would keep every schema it has ever seen.
    isValid ??= new Ajv2020({
      ...{ strict: false, validateFormats: false, validateSchema: false, meta: false, logger: false },
      ...{ verbose: true, allErrors: true },
      ...(takesPatterns && { code: { regExp: Object.assign(() => MATCHES_ALL, { code: 'matchesAll' }) } }),
    }).compile(schema)
    if (!isValid(args)) throw new ToolRefusal(argumentFaults(isValid))
    return args as Record<string, unknown>
  }
}

const MATCHES_ALL = { test: () => true }
