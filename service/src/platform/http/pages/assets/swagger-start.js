// Shows one of the descriptions of the API; the page has loaded everything that this needs.
;(() => {
  const choice = document.querySelector('#select')
  const known = [...choice.options].map(({ value }) => value)
  const asked = new URLSearchParams(location.search).get('of') ?? ''
  choice.value = known.includes(asked) ? asked : known[0]
  const address = () => `/api-docs/${choice.value}.json`

  // Its own would be a link within a button, of which assistive programs make nothing.
  const plainNames = ({ React }) => ({
    components: { DeepLink: ({ text }) => React.createElement('span', null, text) },
  })

  const ui = SwaggerUIBundle({
    dom_id: '#swagger',
    url: address(),
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [plainNames],
    layout: 'BaseLayout',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: -1,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    validatorUrl: null,
  })

  // Fields that the component gives no name get one, so that it is read out.
  const place = document.querySelector('#swagger')
  function nameFields() {
    for (const field of place.querySelectorAll(':is(textarea, select, input):not([aria-label])')) {
      const row = field.closest('tr')
      const name = field.id === 'servers' ? 'Server' : (row?.dataset.paramName ?? (field.placeholder || 'Request body'))
      field.setAttribute('aria-label', name)
    }
  }
  new MutationObserver(nameFields).observe(place, { childList: true, subtree: true })

  choice.addEventListener('change', () => {
    history.replaceState(null, '', `?of=${choice.value}`)
    ui.specActions.updateUrl(address())
    ui.specActions.download(address())
  })

  // The component has dark colours of its own, which follow those of the page.
  const root = document.documentElement
  const preference = matchMedia('(prefers-color-scheme: dark)')
  const follow = () => {
    const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : preference.matches
    root.classList.toggle('dark-mode', isDark)
  }
  follow()
  preference.addEventListener('change', follow)
  new MutationObserver(follow).observe(root, { attributeFilter: ['data-theme'] })
})()
