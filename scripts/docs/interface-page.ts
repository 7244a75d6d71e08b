import type { Row, Section } from '../../service/test/interface/row.ts'
import { ROWS, SECTIONS } from '../../service/test/interface/rows.ts'

/** The page that lists the interface: each row with where it is described, the test that shows it, and whether it is there. */
export function interfacePage(): string {
  const open = ROWS.filter(({ proof }) => proof === null).length
  return `# The interface, row by row

All that Parley promises to those who build on it, and the test that shows each. Of ${ROWS.length} rows ${ROWS.length - open} are there and ${open} are
open: promised, and not built yet. The rows stand in \`service/test/interface\`; this page is made of them.

\`npm run interface -- --check\` compares them with the router and with the descriptions of the API, looks for every test, and runs the test of
each endpoint with that endpoint broken: it has to fail. A route that no row names fails \`npm test\`.

${SECTIONS.map(sectionText).join('\n')}`
}

function sectionText({ title, rows }: Section): string {
  return `## ${title}

| row | described | test | state |
| --- | --- | --- | --- |
${rows.map((row) => `| ${[nameOf(row), placeOf(row), proofOf(row), row.proof ? 'there' : '**open**'].join(' | ')} |`).join('\n')}
`
}

function nameOf(row: Row): string {
  if (row.kind === 'endpoint') return `\`${row.name}\``
  return row.kind === 'fields' ? `${row.name}: ${row.fields.map((name) => `\`${name}\``).join(', ')}` : row.name
}

function placeOf(row: Row): string {
  if (row.kind === 'rule') return `[${row.document.replace('.md', '')}](${row.document})`
  return row.operationId === null ? '' : `\`${row.operationId}\``
}

function proofOf({ proof }: Row): string {
  return proof ? `\`${proof.file}\` › ${proof.test}` : ''
}
