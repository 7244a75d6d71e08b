/** In a field that takes no more, a comma is not that of thousands. */
const MOST = 999

/**
 * Has a comma be the decimal sign in fields for numbers with decimals. A browser whose own language writes a point leaves out the comma that is typed: of 2,5 it
 * would make 25.
 */
export function takeDecimalCommas(page: Document): void {
  let isTrying = false
  page.addEventListener('beforeinput', (event) => {
    const { target, data } = event
    if (isTrying || data !== ',' || !(target instanceof HTMLInputElement) || !hasDecimals(target)) return
    event.preventDefault()
    isTrying = true
    if (!typed(page, target, ',')) typed(page, target, '.')
    isTrying = false
  })
}

function hasDecimals({ type, step, max }: HTMLInputElement): boolean {
  return type === 'number' && !Number.isInteger(Number(step)) && max !== '' && Number(max) <= MOST
}

/** Whether the browser has taken it. */
function typed(page: Document, field: HTMLInputElement, text: string): boolean {
  let isTaken = false
  const take = () => {
    isTaken = true
  }
  field.addEventListener('input', take, { once: true })
  // oxlint-disable-next-line typescript/no-deprecated -- nothing else writes what is no number yet into such a field
  page.execCommand('insertText', false, text)
  field.removeEventListener('input', take)
  return isTaken
}
