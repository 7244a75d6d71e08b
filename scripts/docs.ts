// Writes `.env.example` and `docs/configuration.md` from the table of settings, `docs/events.md` from the catalogue of events, and
// `docs/interface.md` from the rows of the interface; with --check it only compares.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SETTINGS } from '../service/src/config.ts'
import { eventsPage } from './docs/events-page.ts'
import { interfacePage } from './docs/interface-page.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const settings = Object.values(SETTINGS)

function example(): string {
  const blocks = settings.map(({ name, shownDefault, meaning }) => `# ${meaning} Default: ${shownDefault}.\n${name}=\n`)
  return `# Every setting, each empty: an empty one counts as unset. \`npm start\` writes a .env with secrets of its own.\n\n${blocks.join('\n')}`
}

function page(): string {
  const rows = settings.map(({ name, shownDefault, meaning }) => `| ${name} | ${shownDefault} | ${meaning} |`)
  return `# Configuration

Every setting is an environment variable. \`npm start\` also reads \`.env\` (a variable that is already in the environment wins);
\`npm run serve\` reads the environment alone. An empty variable counts as unset. All of them are checked before anything is opened: what
is wrong, or contradicts another one, is told in a line that names the variable, and the service does not start. A variable that is called almost as a setting that
is not given is told in the log at the start.

In \`.env\` a value that has a \`#\` stands in single quotes (\`ADMIN_PASSWORD='correct#horse#battery'\`): without them the rest of the line is a comment.

| variable | default | meaning |
| --- | --- | --- |
${rows.join('\n')}
`
}

const isCheck = process.argv.includes('--check')
for (const [file, text] of [
  ['.env.example', example()],
  ['docs/configuration.md', page()],
  ['docs/events.md', eventsPage()],
  ['docs/interface.md', interfacePage()],
] as const) {
  const path = join(root, file)
  if (!isCheck) writeFileSync(path, text)
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    console.error(`${file} is not what the source says: run \`npm run docs\`.`)
    process.exitCode = 1
  }
}
