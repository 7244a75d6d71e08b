import type { onRouteHookHandler } from 'fastify'

/**
 * The hook that takes no route whose body or query would let unknown members through unsaid: each object in those schemas
 * says `additionalProperties` (`strict` does) or is a map.
 *
 * @throws Error that names the route and the place in its schema.
 */
export const refuseOpenSchemas: onRouteHookHandler = ({ method, url, schema }) => {
  for (const part of ['body', 'querystring'] as const) {
    const [open] = openObjects(schema?.[part], part)
    if (open !== undefined) throw new Error(`${method} ${url}: ${open} does not say whether unknown members are taken`)
  }
}

/** The places of objects in a JSON Schema that leave it open. */
function openObjects(schema: unknown, place: string): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  if (Array.isArray(schema)) return schema.flatMap((item, index) => openObjects(item, `${place}/${index}`))
  const here = isObjectSchema(schema) && !saysWhatElse(schema) ? [place] : []
  return [...here, ...subschemas(schema).flatMap(([name, sub]) => openObjects(sub, `${place}/${name}`))]
}

function isObjectSchema(schema: object): boolean {
  return ('type' in schema && schema.type === 'object') || 'properties' in schema
}

function saysWhatElse(schema: object): boolean {
  return 'additionalProperties' in schema || 'patternProperties' in schema
}

/** Keywords under which every member has a name of ours, which may be that of a keyword. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'content'])

const DIRECT = new Set(['items', 'anyOf', 'oneOf', 'allOf', 'additionalProperties', 'schema'])

function subschemas(schema: object): [string, unknown][] {
  return Object.entries(schema).flatMap(([keyword, value]: [string, unknown]): [string, unknown][] => {
    if (NAMED.has(keyword) && typeof value === 'object' && value !== null) return Object.entries(value)
    return DIRECT.has(keyword) ? [[keyword, value]] : []
  })
}
