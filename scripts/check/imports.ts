import { posix } from 'node:path'
import type { Node } from 'oxc-parser'
import type { Source } from './source.ts'

/**
 * One import of a file, of any kind: static, re-export, dynamic, type.
 * `target` is the path that a relative specifier leads to; `specifier` is undefined for a computed dynamic import.
 */
export type Import = { node: Node; specifier: string | undefined; target: string | undefined; names: string[] }

function nameOf(node: Node): string {
  return node.type === 'Identifier' ? node.name : ''
}

/** The names that are taken from the module: `*` for all of it. */
function namesIn(node: Node): string[] {
  if (node.type !== 'ImportDeclaration' && node.type !== 'ExportNamedDeclaration') return ['*']
  return node.specifiers.map((specifier) => {
    if (specifier.type === 'ImportSpecifier') return nameOf(specifier.imported)
    if (specifier.type === 'ExportSpecifier') return nameOf(specifier.local)
    return '*'
  })
}

function literalOf(node: Node | null): string | undefined {
  return node?.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined
}

function sourceOf(node: Node): Node | null | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return node.source
    default:
      return undefined
  }
}

function targetOf(path: string, specifier: string | undefined): string | undefined {
  return specifier?.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined
}

/** Every import of a file, in the order of the text. */
export function importsOf(source: Source): Import[] {
  return source.places.flatMap(({ node }) => {
    const from = sourceOf(node)
    if (!from) return []
    const specifier = literalOf(from)
    return [{ node, specifier, target: targetOf(source.path, specifier), names: namesIn(node) }]
  })
}

/** Tells whether an import is of the named package or of a path inside it. */
export function isOfPackage({ specifier }: Import, name: string): boolean {
  return specifier === name || specifier?.startsWith(`${name}/`) === true
}
