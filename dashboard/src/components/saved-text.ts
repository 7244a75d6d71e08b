/** That something was saved, and what the service has to say against it. */
export function savedText({ warnings = [] }: { warnings?: string[] }): string {
  return ['Saved.', ...warnings].join(' ')
}
