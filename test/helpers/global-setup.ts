/**
 * Starts the servers for the whole run and stops them at its end. If the run itself is killed, each server's cleanup process
 * removes it.
 */
import type { TestProject } from "vitest/node";
import { supportedVersions, startTestCluster, type ClusterInfo } from "./clusters.ts";

declare module "vitest" {
  interface ProvidedContext {
    clusters: ClusterInfo[];
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = await Promise.allSettled(supportedVersions.map((version) => startTestCluster(version)));
  const clusters = started.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const stopAll = async (): Promise<void> => {
    await Promise.all(clusters.map((cluster) => cluster.server.stop()));
  };
  const failed = started.find((result) => result.status === "rejected");
  if (failed !== undefined) {
    await stopAll();
    throw failed.reason;
  }
  for (const { info } of clusters) {
    if (info.templateError !== null) {
      console.error(`PostgreSQL ${info.version}: the template database could not be migrated.\n${info.templateError}`);
    }
  }
  project.provide(
    "clusters",
    clusters.map((cluster) => cluster.info),
  );
  return stopAll;
}
