/**
 * Webhooks above the delivery engine: endpoints that the database stores, what each of them receives, and alerts on dead letters.
 *
 *     import { putEndpoint, raiseAlerts } from "headroom/webhooks";
 *
 *     await putEndpoint(client, "billing", { url, topics: ["com.example.transfer.*"] }, { key });
 *     const relay = createRelay({ connectionString, rails, streams: ["transfers"], upkeepTasks: [raiseAlerts] });
 *
 * Owns: one typed wrapper for each of their functions. Does not own: delivering (the engine, which does not know this layer) nor calling an
 * endpoint (the webhook rail).
 */
export {
  disableEndpoint,
  enableEndpoint,
  listEndpoints,
  pingEndpoint,
  putEndpoint,
  removeEndpoint,
  replayEnvelopes,
  rotateEndpointSecret,
  type Endpoint,
  type EndpointChanges,
  type EndpointOwner,
  type PutEndpointOptions,
} from "./endpoints.ts";
export { listAlerts, putAlert, raiseAlerts, removeAlert, type Alert, type AlertChanges } from "./alerts.ts";
