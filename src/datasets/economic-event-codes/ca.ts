// Economic event codes: Canada.

/** Code to what it means (spec 2.9). */
export const caEventCodes: Readonly<Record<string, string>> = {
  GDP_GROWTH_RATE_MOM: 'Real gross domestic product by month: growth over the month before.',
  GDP_GROWTH_RATE_QOQ: 'Real gross domestic product: growth over the quarter before.',
  GDP_GROWTH_RATE_ANNUALIZED:
    'Real gross domestic product: growth over the quarter before, as an annual rate.',
  INFLATION_RATE_HEADLINE_YOY: 'Consumer prices: change over a year.',
  INFLATION_RATE_HEADLINE_MOM: 'Consumer prices: change over the month before.',
  INFLATION_RATE_CORE_YOY: 'Consumer prices without food and energy: change over a year.',
  INFLATION_RATE_TRIMMED_YOY:
    'Consumer prices without the largest rises and falls (CPI-trim), which the Bank of Canada watches: change over a year.',
  INFLATION_RATE_MEDIAN_YOY:
    'The middle one of all price changes of consumer goods (CPI-median), which the Bank of Canada watches: change over a year.',
  INFLATION_INDUSTRIAL_PRICES_MOM: 'Prices that manufacturers charge: change over the month before.',
  INFLATION_RAW_MATERIALS_PRICES_MOM:
    'Prices that manufacturers pay for raw materials: change over the month before.',
  EMPLOYMENT_EMPLOYMENT_CHANGE: 'Change in the number of people in work, over the month.',
  EMPLOYMENT_FULL_TIME_CHANGE: 'Change in the number of people in full-time work, over the month.',
  EMPLOYMENT_UNEMPLOYMENT_RATE: 'Share of the labour force that is without work and looks for it.',
  EMPLOYMENT_PARTICIPATION_RATE: 'Share of the adult population that works or looks for work.',
  EMPLOYMENT_AVERAGE_HOURLY_WAGES_YOY: 'Average hourly wages of permanent employees: change over a year.',
  EMPLOYMENT_PRODUCTIVITY_QOQ: 'Output per hour worked at businesses: change over the quarter before.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_MOM: 'Retail sales: change over the month before.',
  CONSUMPTION_RETAIL_SALES_EX_AUTOS_MOM:
    'Retail sales without vehicles and parts: change over the month before.',
  CONSUMPTION_CONSUMER_CONFIDENCE: 'Survey of consumers on their finances and on buying large things.',
  BUSINESS_PMI_MANUFACTURING_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in manufacturing; above 50 they report growth.",
  BUSINESS_PMI_SERVICES_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in services; above 50 they report growth.",
  BUSINESS_PMI_IVEY:
    "The Ivey Business School's survey of purchasing managers, public ones too; above 50 purchases grow.",
  BUSINESS_MANUFACTURING_SALES_MOM: 'Sales of manufacturers: change over the month before.',
  BUSINESS_WHOLESALE_SALES_MOM: 'Sales of wholesalers: change over the month before.',
  BUSINESS_CAPACITY_UTILIZATION: "Share of industry's capacity that is in use.",
  HOUSING_STARTS_ABSOLUTE: 'Homes on which building began in the month, as an annual rate.',
  HOUSING_BUILDING_PERMITS_MOM: 'Value of permitted buildings: change over the month before.',
  HOUSING_NEW_HOUSE_PRICE_INDEX_MOM: 'Prices of newly built houses: change over the month before.',
  TRADE_BALANCE: 'Exports of goods less imports in the month.',
  TRADE_EXPORTS: 'Value of the goods exported in the month.',
  TRADE_IMPORTS: 'Value of the goods imported in the month.',
  TRADE_CURRENT_ACCOUNT: 'Trade, income and transfers with the rest of the world in the quarter.',
  BONDS_AUCTION_BOND_10Y: 'Auction of 10-year government bonds: the average accepted yield.',
  BONDS_FOREIGN_SECURITIES_PURCHASES: 'Net purchases of Canadian securities by foreigners in the month.',
  BONDS_FEDERAL_BUDGET_BALANCE: 'What the federal government took in less what it spent in the month.',
  POLITICAL_EVENT_FEDERAL_ELECTION: 'Election of the House of Commons.',
  POLITICAL_EVENT_FEDERAL_BUDGET: "The Minister of Finance's budget speech.",
  BOC_POLICY_INTEREST_RATE_DECISION: "The Bank of Canada's decision on its target for the overnight rate.",
  BOC_POLICY_STATEMENT: "The Bank of Canada's statement on its decision.",
  BOC_POLICY_PRESS_CONFERENCE: "The Governor's press conference after a decision.",
  BOC_POLICY_SUMMARY_OF_DELIBERATIONS:
    'What the Governing Council discussed before its last decision, two weeks after it.',
  BOC_POLICY_MONETARY_POLICY_REPORT: "The Bank of Canada's quarterly forecasts of growth and inflation.",
  BOC_POLICY_BUSINESS_OUTLOOK_SURVEY: "The Bank of Canada's quarterly survey of companies.",
  BOC_SPEECH_GOVERNOR: 'Speech of the Governor of the Bank of Canada.',
  BOC_SPEECH_DEPUTY_GOVERNOR: 'Speech of a Deputy Governor of the Bank of Canada.',
};
