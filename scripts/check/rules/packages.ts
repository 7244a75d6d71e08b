import { type Import, importsOf, isOfPackage } from '../imports.ts'
import { isHouseCode, isUnder } from '../paths.ts'
import type { Source } from '../source.ts'
import { type Violation, violation } from '../violation.ts'

type Confined = {
  rule: string
  matches: (each: Import) => boolean
  mayStandIn: (path: string) => boolean
  where: string
}

const QUERY_METHODS = ['selectFrom', 'insertInto', 'replaceInto', 'updateTable', 'deleteFrom', 'mergeInto']

function isStore(path: string): boolean {
  return path.endsWith('store.ts') || isUnder(path, 'platform/db')
}

function takesSql(each: Import): boolean {
  return isOfPackage(each, 'kysely') && (each.names.includes('sql') || each.names.includes('*'))
}

const CONFINED: Confined[] = [
  {
    rule: 'fastify',
    matches: (each) => isOfPackage(each, 'fastify') || each.specifier?.startsWith('@fastify/') === true,
    mayStandIn: (path) => path.endsWith('routes.ts') || isUnder(path, 'platform/http'),
    where: 'only in *routes.ts and platform/http/',
  },
  {
    rule: 'database-driver',
    matches: (each) => ['pg', '@electric-sql/pglite'].some((name) => isOfPackage(each, name)),
    mayStandIn: (path) => isUnder(path, 'platform/db'),
    where: 'only in platform/db/',
  },
  { rule: 'sql', matches: takesSql, mayStandIn: isStore, where: 'only in *store.ts and platform/db/' },
]

function confinedImports(source: Source): Violation[] {
  return importsOf(source).flatMap((each) => {
    const broken = CONFINED.find((rule) => rule.matches(each) && !rule.mayStandIn(source.path))
    return broken ? [violation(source, each.node, broken.rule, `${each.specifier} is imported ${broken.where}`)] : []
  })
}

function queries(source: Source): Violation[] {
  if (isStore(source.path)) return []
  return source.places.flatMap(({ node }) => {
    if (node.type !== 'MemberExpression' || node.property.type !== 'Identifier' || node.computed) return []
    const { name } = node.property
    return QUERY_METHODS.includes(name)
      ? [violation(source, node.property, 'sql', `${name} is called only in *store.ts and platform/db/`)]
      : []
  })
}

/** Fastify, the database drivers and SQL each have a place; elsewhere nobody needs to know of them. */
export function packages(source: Source): Violation[] {
  return isHouseCode(source.path) ? [...confinedImports(source), ...queries(source)] : []
}
