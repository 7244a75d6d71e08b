// Shows the descriptions of the API; the page has loaded everything that this needs.
window.ui = SwaggerUIBundle({
  dom_id: '#swagger',
  urls: [
    { name: 'Tenants, intake, carriers', url: '/api-docs/public.json' },
    { name: 'Administration', url: '/api-docs/admin.json' },
    { name: 'Everything', url: '/api-docs/openapi.json' },
  ],
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'StandaloneLayout',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
})
