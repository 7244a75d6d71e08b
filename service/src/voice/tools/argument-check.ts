import { isJsonObject } from '../../kernel/json-object.ts'
import { checkOf, type SchemaCheck, unusableFault } from '../../tenancy/schema-check.ts'
import { argumentFaults, ToolRefusal } from './tool.ts'

/**
 * Whether regular expressions of a schema are passed over, and a schema by which nothing can be checked, as one that refers to another
 * document. A server's may take for ever, or ask for what only it has; it checks its arguments itself, too.
 */
type Options = { passesPatterns: boolean; passesUnusable: boolean }

/**
 * Makes the check of a tenant's own schema (draft 2020-12). It is compiled when it is first asked: most calls use few tools.
 *
 * The check throws ToolRefusal for arguments that are no object, or do not fit.
 */
export function makeArgumentCheck(
  schema: Record<string, unknown>,
  options: Options = { passesPatterns: false, passesUnusable: false },
): (args: unknown) => Record<string, unknown> {
  let check: SchemaCheck | null = null
  return (args) => {
    if (!isJsonObject(args)) throw new ToolRefusal('arguments must be an object')
    check ??= options.passesUnusable && unusableFault(schema, options) !== null ? () => [] : checkOf(schema, options)
    const errors = check(args)
    if (errors.length > 0) throw new ToolRefusal(argumentFaults({ errors }))
    return args
  }
}
