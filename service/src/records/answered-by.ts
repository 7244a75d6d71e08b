/** Whether the carrier's word for what answered means that nobody can talk to it: `machine_start`, `machine_end_beep`, `fax`, … */
export function isMachine(answeredBy: string | null): boolean {
  return answeredBy !== null && /^(machine|fax)/.test(answeredBy)
}
