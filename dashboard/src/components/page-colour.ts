/** A colour of `tokens.css`, by its name, as it is now. Canvases know nothing of the colours of the page, which differ between light and dark. */
export function pageColour(name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** The same as paper has it, which is light. Nothing of that is seen: the page has its own again before it is drawn. */
export function paperColour(name: string): string {
  const { dataset } = document.documentElement
  const { mantineColorScheme: scheme } = dataset
  dataset['mantineColorScheme'] = 'light'
  try {
    return pageColour(name)
  } finally {
    dataset['mantineColorScheme'] = scheme
  }
}
