/**
 * A colour of `tokens.css`, by its name, as it is now. Canvases know nothing of the colours of the page, which differ between light and dark.
 * @param scheme whose colours are wanted, whichever the page has.
 */
export function pageColour(name: string, scheme = ''): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  probe.style.colorScheme = scheme
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
