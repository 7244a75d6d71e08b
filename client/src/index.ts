export { createParley, type Parley, type ParleyOptions } from './client.ts'
export type { components, operations, paths } from './public-api.ts'
export {
  type VerifiedWebhook,
  type VerifyOptions,
  verifyWebhook,
  WebhookError,
  type WebhookEvent,
  type WebhookHeaders,
} from './webhook.ts'
