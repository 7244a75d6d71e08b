/** Replaces what stands between `<!-- name -->` and `<!-- /name -->`. @throws Error when the two are not there. */
export function fillBlock(document: string, name: string, content: string): string {
  const open = `<!-- ${name} -->`
  const close = `<!-- /${name} -->`
  const start = document.indexOf(open)
  const end = document.indexOf(close, start)
  if (start < 0 || end < 0) throw new Error(`no block ${name} in the document`)
  return `${document.slice(0, start)}${open}\n${content}\n${document.slice(end)}`
}
