import { Gauge, type Registry } from 'prom-client'
import type { Journal } from './journal.ts'
import type { JournalFiles } from './journal-file.ts'

type Parts = { journal: Pick<Journal, 'waiting'>; files: Pick<JournalFiles, 'waiting'> }

/** How much waits for the database. It is counted where it waits, when the metrics are read. */
export function makeJournalMetrics(registry: Registry, { journal, files }: Parts): void {
  const registers = [registry]
  new Gauge({
    name: 'journal_entries_waiting',
    help: 'Turns and tool calls of calls that the database has still to take; those of the last moment always are.',
    registers,
    collect() {
      this.set(journal.waiting)
    },
  })
  new Gauge({
    name: 'journal_kept_waiting',
    help: 'What is kept on the disk because the database has not taken it: turns, ends of calls, what carriers and supervisors did.',
    registers,
    collect() {
      this.set(files.waiting)
    },
  })
}
